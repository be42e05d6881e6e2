import type { DeviceNotice } from '../../domain/device/ports/device-link.ts'
import type { Moment } from '../../domain/execution/execution.ts'
import { cancelJson, notifyJson, notifyNextJson } from '../to-device.ts'

/** The part after the device's prefix. */
export function noticeTopic(notice: DeviceNotice): string {
  switch (notice.kind) {
    case 'list':
      return 'notify'
    case 'next':
      return 'notify-next'
    case 'cancel':
      return `${notice.jobExecutionId}/cancel`
  }
}

export function noticeJson(notice: DeviceNotice, deviceId: string, moment: Moment): string {
  switch (notice.kind) {
    case 'list':
      return notifyJson(notice.queue, moment.at)
    case 'next':
      return notifyNextJson(deviceId, notice.next, { ...moment, documentAs: 'object' })
    case 'cancel':
      return cancelJson(notice.deadlineSeconds, moment.at)
  }
}
