// Steps that change, open or close windows; memory is updated when the change is on disk.

import type { Store } from '../../domain/common/ports/store.ts'
import type { Catalogue } from './catalogue.ts'
import type { WriterThread } from './database-thread.ts'

type WindowSteps = Pick<Store, 'putWindow' | 'deleteWindow' | 'setOpenZones'>

export function buildWindowSteps({ windows }: Catalogue, writer: WriterThread): WindowSteps {
  return {
    async putWindow(put) {
      const outcome = await writer.call('putWindow', put)
      if (outcome.kind === 'put') windows.put(put, put.openZones)
      return outcome
    },
    async deleteWindow(window) {
      windows.setLeaving(window, true)
      try {
        const outcome = await writer.call('deleteWindow', window)
        if (outcome.kind === 'deleted') windows.delete(window)
        return outcome
      } finally {
        windows.setLeaving(window, false)
      }
    },
    async setOpenZones(changes) {
      await writer.call('setOpenZones', changes)
      for (const change of changes) windows.setOpen(change)
    },
  }
}
