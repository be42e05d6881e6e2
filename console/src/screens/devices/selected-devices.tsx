// Actions on the selected devices: those that were checked, or all matching ones except those that were unchecked.

import { useState } from 'preact/hooks'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount } from '../../parts/exec-state.ts'
import { triggerHref } from '../../parts/trigger-href.ts'
import { useScopes } from '../../scopes.ts'
import { quote, readSelector, whereAll } from '../../selector/selector-text.ts'
import { GroupForm } from '../groups/group-form.tsx'
import { ChangeDevices } from './change-devices.tsx'

export type SelectedProps = {
  isAll: boolean
  /** The selected devices; with `isAll`, the unselected ones. */
  ids: ReadonlySet<string>
  /** The selector of the filters; empty: all devices. */
  matching: string
  onClear: () => void
}

const anyDevice = 'all'

export default function SelectedDevices({ isAll, ids, matching, onClear }: SelectedProps) {
  const { can } = useScopes()
  const [opened, setOpened] = useState<'change' | 'group'>()
  const where = isAll ? whereAll([matching, ...excluding(ids)]) || anyDevice : inIds(ids)
  const { data, error } = useQuery({ ...queries.deviceCount(where), enabled: isAll })
  const total = isAll ? data?.total : ids.size
  const size = total === undefined ? 'devices' : `${formatCount(total)} ${total === 1 ? 'device' : 'devices'}`
  // A selector that excludes many devices one by one may be longer than the server accepts.
  const isUnusable = total === 0 || (isAll && data === undefined && error !== undefined)
  const close = () => setOpened(undefined)
  return (
    <section class="selected-devices" aria-label="Selected devices">
      <p role="status">{isAll ? `All that match: ${size}` : `${size} selected`}</p>
      {isAll && !data && <ErrorNote error={error} />}
      {can('TRIGGER') && !isUnusable && (
        <a class="button primary" href={triggerHref(isAll ? { where } : { deviceIds: ids })}>
          Trigger on {size}
        </a>
      )}
      {can('MANAGE') && !isUnusable && (
        <button type="button" onClick={() => setOpened('change')}>
          Tags and attributes…
        </button>
      )}
      {can('MANAGE') && readSelector(where).kind === 'where' && (
        <button type="button" onClick={() => setOpened('group')}>
          Make a group…
        </button>
      )}
      <button type="button" class="ghost" onClick={onClear}>
        Clear selection
      </button>
      {opened === 'change' && (
        <ChangeDevices target={isAll ? { where } : { deviceIds: [...ids] }} onClose={close} />
      )}
      {opened === 'group' && <GroupForm where={where} onClose={close} />}
    </section>
  )
}

function inIds(ids: ReadonlySet<string>): string {
  return `deviceId in (${[...ids].map(quote).join(', ')})`
}

function excluding(ids: ReadonlySet<string>): string[] {
  return ids.size === 0 ? [] : [`not ${inIds(ids)}`]
}
