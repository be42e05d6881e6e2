// graphile-worker behind the route. Argument: the address of PostgreSQL. A call with a key updates the job of each device, if it is
// still waiting.

import { Logger, makeWorkerUtils } from 'graphile-worker'
import { serveTriggers } from '../trigger-app.ts'
import { dropSchema } from './postgres.ts'

const [url = ''] = process.argv.slice(2)
await dropSchema(url, 'graphile_worker')
const silent = new Logger(() => () => undefined)
const worker = await makeWorkerUtils({ connectionString: url, logger: silent })
await worker.migrate()

await serveTriggers((jobName, deviceIds, key) =>
  worker.addJobs(
    deviceIds.map((deviceId) => ({
      identifier: 'execution',
      payload: { jobName, deviceId },
      ...(key && { jobKey: `${key} ${deviceId}` }),
    })),
  ),
)
