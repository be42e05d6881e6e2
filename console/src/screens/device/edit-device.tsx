import type { Device } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { TagsField } from '../../parts/tags-field.tsx'

export function EditDevice({ device, onClose }: { device: Device; onClose: () => void }) {
  const { deviceId } = device
  const [deviceName, setDeviceName] = useState(device.deviceName)
  const [tags, setTags] = useState(device.tags)
  const save = async () => {
    const name = deviceName.trim()
    // A PUT resets what it leaves out.
    const { attributes, timeZone } = device
    await jobcast.devices.put(deviceId, { ...(name && { deviceName: name }), tags, attributes, timeZone })
    await refreshKeys(['device', deviceId])
  }
  return (
    <FormDialog title={`Edit ${deviceId}`} submit="Save" work={save} onClose={onClose}>
      <TextField
        label="Name"
        value={deviceName}
        onInput={setDeviceName}
        placeholder={deviceId}
        hint="The ID if empty."
      />
      <TagsField label="Tags" values={tags} onChange={setTags} hint="Press Enter or comma after each." />
    </FormDialog>
  )
}
