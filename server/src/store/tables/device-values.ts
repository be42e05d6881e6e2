// Values of devices for documents: their names, and the attributes used in placeholders.

import type { DeviceValues } from '@jobcast/contract/parameters'
import { inBoth, type Spelling } from '../queries.ts'
import { orNull, select } from '../schema/column.ts'
import { device, deviceAttribute } from '../schema/tables.ts'
import type { ReadSteps } from './step.ts'

const VALUE = select({
  ...device.pick('deviceId', 'deviceName'),
  name: orNull(deviceAttribute.fields.name),
  value: orNull(deviceAttribute.fields.value),
})
const effective = { sqlite: 'shadowed = 0', postgres: 'NOT shadowed' }
const VALUES = inBoth(
  ({ is, isIn }) => `
  SELECT ${VALUE} FROM device
    LEFT JOIN device_attribute ON device_attribute.device_no = device.device_no
      AND ${effective[is]} AND ${isIn('name', 'names', 'text')}
  WHERE device.owner_no = :ownerNo AND ${isIn('device_id', 'deviceIds', 'text')} AND deleted_at IS NULL`,
)

const WITHOUT_VALUES = select(device.pick('deviceNo', 'deviceId'))
const withoutValues = <Listed extends string>(listed: (spelling: Spelling) => Listed) =>
  inBoth((spelling) => {
    const { is, isIn } = spelling
    return `
  SELECT ${WITHOUT_VALUES} FROM device
  WHERE device.owner_no = :ownerNo AND ${listed(spelling)} AND deleted_at IS NULL AND :count > (
    SELECT count(name) FROM device_attribute
    WHERE device_attribute.device_no = device.device_no AND ${effective[is]} AND ${isIn('name', 'names', 'text')})` as const
  })
const IDS_WITHOUT_VALUES = withoutValues(({ isIn }) => isIn('device_id', 'deviceIds', 'text'))
const NOS_WITHOUT_VALUES = withoutValues(({ isIn }) => isIn('device.device_no', 'deviceNos', 'integer'))

export const deviceValueReads: ReadSteps<'listDeviceValues' | 'listWithoutValues' | 'listNosWithoutValues'> =
  {
    async listDeviceValues(queries, { ownerNo, deviceIds, names }) {
      const found = new Map<
        string,
        DeviceValues & { attributes: Record<string, string | number | boolean> }
      >()
      for (const row of await queries.all(VALUE, VALUES, { ownerNo, deviceIds, names })) {
        const { deviceId, deviceName, name, value } = row
        const values = found.get(deviceId) ?? { deviceId, deviceName, attributes: {} }
        if (name !== null && value !== null) values.attributes[name] = value
        found.set(deviceId, values)
      }
      return [...found.values()]
    },
    async listWithoutValues(queries, { ownerNo, deviceIds, names }) {
      const values = { ownerNo, deviceIds, names, count: names.length }
      const found = await queries.all(WITHOUT_VALUES, IDS_WITHOUT_VALUES, values)
      return found.map(({ deviceId }) => deviceId)
    },
    listNosWithoutValues: (queries, { ownerNo, deviceNos, names }) =>
      queries.all(WITHOUT_VALUES, NOS_WITHOUT_VALUES, { ownerNo, deviceNos, names, count: names.length }),
  }
