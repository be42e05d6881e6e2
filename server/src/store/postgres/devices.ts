import type { Store } from '../../domain/store.ts'
import { deleteDeviceRow } from '../tables/devices.ts'
import type { Catalogue } from './catalogue.ts'
import { putDevices } from './device-puts.ts'
import { inBatch } from './moves.ts'
import type { Policies } from './policies.ts'

export function buildDeviceSteps(
  policies: Policies,
  catalogue: Catalogue,
): Pick<Store, 'putDevices' | 'deleteDevice'> {
  return {
    putDevices(puts) {
      const owners = puts.map(({ ownerNo }) => ownerNo)
      return catalogue.change(owners, (transaction) => putDevices(transaction, puts))
    },
    deleteDevice({ ownerNo, deviceId, moment, actor }) {
      return catalogue.change([ownerNo], async (transaction) => {
        const deleted = { ownerNo, deviceId, at: moment.at }
        const deviceNo = await deleteDeviceRow(transaction.named, deleted)
        if (deviceNo === undefined) return undefined
        return inBatch(transaction, policies, async (moves) => {
          const unfinished = await moves.lockOfDevice(deviceNo)
          return moves.batch.moveAll(unfinished, { event: 'remove-device', moment, actor })
        })
      })
    },
  }
}
