import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { isThere } from '../../api/is-there.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { TagsField } from '../../parts/tags-field.tsx'
import { navigate } from '../../router.ts'

/** Opens the new device, on whose screen its token is created. */
export function NewDevice({ onClose }: { onClose: () => void }) {
  const [deviceId, setDeviceId] = useState('')
  const [deviceName, setDeviceName] = useState('')
  const [tags, setTags] = useState<string[]>([])
  const id = deviceId.trim()
  const isWrong = /[/+#?]/.test(id)
  const create = async () => {
    if (await isThere(() => jobcast.devices.get(id))) throw new Error(`Device ${id} already exists.`)
    await jobcast.devices.put(id, { ...(deviceName.trim() && { deviceName: deviceName.trim() }), tags })
    void refreshKeys(['devices'])
    navigate(`/devices/${encodeURIComponent(id)}`)
  }
  return (
    <FormDialog
      title="New device"
      submit="Create device"
      canSubmit={id !== '' && !isWrong}
      work={create}
      onClose={onClose}
    >
      <TextField
        label="Device ID"
        mono
        required
        value={deviceId}
        onInput={setDeviceId}
        error={isWrong ? 'Must not contain / + # or ?.' : undefined}
        hint="The device connects with it. It cannot be changed later."
      />
      <TextField
        label="Name"
        value={deviceName}
        onInput={setDeviceName}
        placeholder="Same as ID"
        hint="A display name."
      />
      <TagsField
        label="Tags"
        values={tags}
        onChange={setTags}
        hint="Jobs can be triggered on all devices with a tag. Press Enter or comma after each."
      />
    </FormDialog>
  )
}
