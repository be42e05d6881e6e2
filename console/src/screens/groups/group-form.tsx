// The form for a new or an existing group.

import type { Group } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { isThere } from '../../api/is-there.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { WindowField } from '../../parts/window-field.tsx'
import { navigate } from '../../router.ts'
import { SelectorField } from '../../selector/selector-field.tsx'
import { readSelector } from '../../selector/selector-text.ts'

type Props = {
  group?: Group
  /** The selector of a new group. */
  where?: string
  onClose: () => void
}

export function GroupForm({ group, where: wanted = '', onClose }: Props) {
  const [name, setName] = useState(group?.groupName ?? '')
  const [where, setWhere] = useState(group?.where ?? wanted)
  const [description, setDescription] = useState(group?.description ?? '')
  const [window, setWindow] = useState(group?.window ?? '')
  const groupName = name.trim()
  const save = async () => {
    if (!group && (await isThere(() => jobcast.groups.get(groupName))))
      throw new Error(`A group named ${groupName} already exists.`)
    const about = description.trim()
    const content = { where: where.trim(), ...(about && { description: about }), ...(window && { window }) }
    await jobcast.groups.put(groupName, content)
    // Lists of devices may depend on its selector.
    await refreshKeys(['group', groupName], ['groups'], ['devices'])
    if (!group) navigate(`/groups/${encodeURIComponent(groupName)}`)
  }
  return (
    <FormDialog
      title={group ? `Edit ${groupName}` : 'New group'}
      submit={group ? 'Save' : 'Create group'}
      canSubmit={groupName !== '' && readSelector(where).kind === 'where'}
      work={save}
      onClose={onClose}
    >
      {!group && (
        <TextField
          label="Name"
          required
          value={name}
          onInput={setName}
          placeholder="berlin-kiosks"
          hint="Selectors refer to it as group=name. It cannot be changed later."
        />
      )}
      <SelectorField
        label="Selector"
        isStrict
        text={where}
        onInput={setWhere}
        hint="Devices belong to the group as long as they match."
      />
      <TextField label="Description" value={description} onInput={setDescription} />
      <WindowField
        value={window}
        onChange={setWindow}
        none="None (at any time)"
        hint="Devices of the group are offered work only while the window is open."
      />
    </FormDialog>
  )
}
