import type { Device } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { readAnew } from '../../api/read-anew.ts'
import { TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { TagsField } from '../../parts/tags-field.tsx'

export function EditDevice({ device, onClose }: { device: Device; onClose: () => void }) {
  const { deviceId } = device
  const [deviceName, setDeviceName] = useState(device.deviceName)
  const [tags, setTags] = useState(device.tags)
  const save = async () => {
    const name = deviceName.trim()
    await jobcast.devices.put(deviceId, { ...(name && { deviceName: name }), tags })
    await readAnew(['device', deviceId])
  }
  return (
    <FormDialog title={`Edit ${deviceId}`} submit="Save" work={save} onClose={onClose}>
      <TextField
        label="Name"
        value={deviceName}
        onInput={setDeviceName}
        placeholder={deviceId}
        hint="Without one it is named like its id."
      />
      <TagsField label="Tags" values={tags} onChange={setTags} hint="Enter or a comma ends one." />
    </FormDialog>
  )
}
