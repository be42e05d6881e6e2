// BullMQ behind the route. Argument: the port of Redis.

import { Queue } from 'bullmq'
import { serveTriggers } from '../trigger-app.ts'

const port = Number(process.argv[2])
const queue = new Queue('executions', { connection: { host: '127.0.0.1', port } })
await queue.waitUntilReady()

await serveTriggers((jobName, deviceIds) =>
  queue.addBulk(deviceIds.map((deviceId) => ({ name: jobName, data: { jobName, deviceId } }))),
)
