// pg-boss behind the route. Argument: the address of PostgreSQL. A call with a key makes one job of each device a day.

import { PgBoss } from 'pg-boss'
import { serveTriggers } from '../trigger-app.ts'
import { dropSchema } from './postgres.ts'

const [url = ''] = process.argv.slice(2)
await dropSchema(url, 'pgboss')
// Maintenance can run elsewhere; here it would only take time from the inserts.
const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false })
boss.on('error', (error) => console.error(error))
await boss.start()
await boss.createQueue('executions')

const daySeconds = 24 * 60 * 60

await serveTriggers((jobName, deviceIds, key) =>
  boss.insert(
    'executions',
    deviceIds.map((deviceId) => ({
      data: { jobName, deviceId },
      ...(key && { singletonKey: `${key} ${deviceId}`, singletonSeconds: daySeconds }),
    })),
  ),
)
