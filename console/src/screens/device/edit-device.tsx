import type { Device, DeviceContent } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { TagsField } from '../../parts/tags-field.tsx'
import { WindowField } from '../../parts/window-field.tsx'
import { ZoneField, zoneProblem } from '../../parts/zone-field.tsx'
import { attributesOf, rowProblem, rowsOf, tooMany } from './attribute-rows.ts'
import { AttributesField } from './attributes-field.tsx'

export default function EditDevice({ device, onClose }: { device: Device; onClose: () => void }) {
  const { deviceId, reportedAttributes } = device
  const [deviceName, setDeviceName] = useState(device.deviceName)
  const [tags, setTags] = useState(device.tags)
  const [timeZone, setTimeZone] = useState(device.timeZone ?? '')
  const [window, setWindow] = useState(device.window ?? '')
  const [rows, setRows] = useState(() => rowsOf(device.attributes))
  const isWrong = rows.some((row) => rowProblem(row, rows) !== undefined) || tooMany(rows) !== undefined
  const save = async () => {
    const content: Required<DeviceContent> = {
      deviceName: deviceName.trim() || deviceId,
      tags,
      attributes: attributesOf(rows),
      timeZone: timeZone.trim() || null,
      window: window || null,
    }
    await jobcast.devices.put(deviceId, content)
    await refreshKeys(['device', deviceId])
  }
  return (
    <FormDialog
      title={`Edit ${deviceId}`}
      submit="Save"
      canSubmit={!isWrong && zoneProblem(timeZone) === undefined}
      work={save}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={deviceName}
        onInput={setDeviceName}
        placeholder={deviceId}
        hint="The ID by default."
      />
      <TagsField label="Tags" values={tags} onChange={setTags} hint="Press Enter or comma after each." />
      <ZoneField
        label="Time zone"
        value={timeZone}
        onInput={setTimeZone}
        placeholder={String(reportedAttributes.timeZone ?? 'UTC')}
        hint="By default, the time zone that the device reports, otherwise UTC."
      />
      <WindowField
        value={window}
        onChange={setWindow}
        none="None (at any time)"
        hint="The device is offered work only while the window is open. Windows of its groups apply as well."
      />
      <AttributesField rows={rows} onChange={setRows} reported={reportedAttributes} />
    </FormDialog>
  )
}
