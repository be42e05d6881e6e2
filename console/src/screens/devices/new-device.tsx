import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { isThere } from '../../api/is-there.ts'
import { readAnew } from '../../api/read-anew.ts'
import { TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { TagsField } from '../../parts/tags-field.tsx'
import { navigate } from '../../router.ts'

/** Leads to the new device, where it gets its token. */
export function NewDevice({ onClose }: { onClose: () => void }) {
  const [deviceId, setDeviceId] = useState('')
  const [deviceName, setDeviceName] = useState('')
  const [tags, setTags] = useState<string[]>([])
  const id = deviceId.trim()
  const isWrong = /[/+#?]/.test(id)
  const create = async () => {
    if (await isThere(() => jobcast.devices.get(id))) throw new Error(`There is a device ${id} already.`)
    await jobcast.devices.put(id, { ...(deviceName.trim() && { deviceName: deviceName.trim() }), tags })
    void readAnew(['devices'])
    navigate(`/devices/${encodeURIComponent(id)}`)
  }
  return (
    <FormDialog
      title="New device"
      submit="Make device"
      canSubmit={id !== '' && !isWrong}
      work={create}
      onClose={onClose}
    >
      <TextField
        label="Device id"
        mono
        required
        value={deviceId}
        onInput={setDeviceId}
        error={isWrong ? 'None of / + # ? may be in it.' : undefined}
        hint="It stays for good; what the device signs in with."
      />
      <TextField
        label="Name"
        value={deviceName}
        onInput={setDeviceName}
        placeholder="As its id"
        hint="For people."
      />
      <TagsField
        label="Tags"
        values={tags}
        onChange={setTags}
        hint="Jobs can be triggered on all devices of a tag. Enter or a comma ends one."
      />
    </FormDialog>
  )
}
