// A link with a filter that cannot be applied shows more than it says, so the screen says that.

import { search } from '../router.ts'
import { Icon } from './icon.tsx'

/** Which values each filter of the address may have. */
export type FilterRules = Record<string, (value: string) => boolean>

export const isOneOf =
  (values: readonly string[]) =>
  (value: string): boolean =>
    values.includes(value)

/** Several, separated by commas. */
export const areOf =
  (values: readonly string[]) =>
  (value: string): boolean =>
    value.split(',').every((each) => values.includes(each))

export const isInstant = (value: string) => !Number.isNaN(Date.parse(value))

export const isNumber = (value: string) =>
  /^[1-9]\d{0,15}$/.test(value) && Number.isSafeInteger(Number(value))

/** The value of a filter, or undefined if it is missing or wrong. */
export function filterOf(name: string, rules: FilterRules): string | undefined {
  const value = search.value.get(name)
  return value && rules[name]?.(value) ? value : undefined
}

export function WrongFilters({ rules }: { rules: FilterRules }) {
  const wrong = [...search.value].filter(([name, value]) => value !== '' && rules[name]?.(value) === false)
  if (wrong.length === 0) return null
  return (
    <div class="error-note" role="alert">
      <Icon name="warning" />
      <p>
        <strong>Not a valid filter, so it is not applied:</strong>{' '}
        {wrong.map(([name, value]) => `${name}=${value}`).join(', ')}
      </p>
    </div>
  )
}
