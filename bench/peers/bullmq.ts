// BullMQ behind the route. Argument: the port of Redis. A call with a key makes one job of each device, as long as it is stored.

import { Queue } from 'bullmq'
import { serveTriggers } from '../trigger-app.ts'

const port = Number(process.argv[2])
const queue = new Queue('executions', { connection: { host: '127.0.0.1', port } })
await queue.waitUntilReady()

await serveTriggers((jobName, deviceIds, key) =>
  queue.addBulk(
    deviceIds.map((deviceId) => ({
      name: jobName,
      data: { jobName, deviceId },
      ...(key && { opts: { jobId: `${key} ${deviceId}` } }),
    })),
  ),
)
