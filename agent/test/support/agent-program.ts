// Agents in a separate process, to be killed. Options are passed as JSON, one agent each; events are printed as JSON lines.

import { startAgent } from '../../src/agent.ts'
import type { AgentEvent } from '../../src/events.ts'
import type { AgentSettings } from './spawn-agents.ts'

const settings: AgentSettings[] = JSON.parse(process.argv[2] ?? '[]')
const agents = await Promise.all(
  settings.map(({ token, ...options }) => {
    const tell = (event: AgentEvent) => {
      console.log(JSON.stringify({ deviceId: options.deviceId, ...event }))
      // A fault is a bug, and the test must see it.
      if (event.kind === 'fault') console.error(event.error)
    }
    return startAgent({ ...options, readToken: () => token, tell })
  }),
)
process.once('SIGTERM', async () => {
  await Promise.all(agents.map((agent) => agent.stop()))
  process.exit(0)
})
