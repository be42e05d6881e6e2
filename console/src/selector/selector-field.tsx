// A filter bar for selectors: shows the position of errors, and counts the devices while the user types.

import './selector-field.css'
import { isJobcastError } from '@jobcast/client'
import { queries } from '../api/queries.ts'
import { useQuery } from '../api/use-query.ts'
import { formatCount } from '../parts/exec-state.ts'
import { TextField } from '../parts/field.tsx'
import { useSettled } from '../parts/use-settled.ts'
import { readFilter, readSelector, type TypedFilter } from './selector-text.ts'

type Props = {
  label: string
  text: string
  onInput: (text: string) => void
  /** Accepts only selectors, not the beginning of a name. */
  isStrict?: boolean
  hint?: string
}

export function SelectorField({ label, text, onInput, isStrict = false, hint }: Props) {
  const filter = (isStrict ? readSelector : readFilter)(text)
  return (
    <div class="selector-field">
      <TextField
        label={label}
        type={isStrict ? 'text' : 'search'}
        mono
        {...(hint !== undefined && { hint })}
        value={text}
        onInput={onInput}
        placeholder={`${isStrict ? '' : 'kiosk, or '}tag=kiosk and site=berlin`}
        error={filter.kind === 'wrong' ? wrongText(text, filter) : undefined}
      />
      {filter.kind === 'where' && <Count where={filter.where} />}
    </div>
  )
}

function wrongText(text: string, { position, message }: TypedFilter & { kind: 'wrong' }): string {
  const rest = text.slice(position - 1, position + 19)
  return `Character ${position}${rest === '' ? ', the end' : `, at “${rest}”`}: ${message}.`
}

function Count({ where }: { where: string }) {
  const settled = useSettled(where)
  const { data, error } = useQuery(queries.deviceCount(settled))
  // Errors that only the server detects, such as an unknown group.
  const problem = isJobcastError(error) ? (error.detail ?? error.message) : error ? 'Not counted.' : undefined
  return (
    <p class={problem ? 'field-error' : 'quiet'} role="status">
      {problem}
      {!problem && data && settled === where && (
        <>
          {formatCount(data.total)} {data.total === 1 ? 'device matches' : 'devices match'}
          {data.total > 0 && `: ${formatCount(data.online)} online, ${formatCount(data.busy)} busy`}
          {data.unknownNames.length > 0 && `. No device has an attribute ${data.unknownNames.join(' or ')}.`}
        </>
      )}
    </p>
  )
}
