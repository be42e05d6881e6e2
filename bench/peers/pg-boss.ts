// pg-boss behind the route. Argument: the address of PostgreSQL.

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

await serveTriggers((jobName, deviceIds) =>
  boss.insert(
    'executions',
    deviceIds.map((deviceId) => ({ data: { jobName, deviceId } })),
  ),
)
