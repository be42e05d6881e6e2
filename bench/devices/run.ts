// npm run bench:devices: what connected devices cost, compared with bare sockets and other brokers in the same run.

import { fleet } from '../fleet.ts'
import { publish } from '../report.ts'
import { besideDevicesSection } from './beside-devices.ts'
import { fanOutSection } from './fan-out.ts'
import { idleMemorySection } from './idle-memory.ts'
import { noticeLatencySection } from './notice-latency.ts'
import { type Part, readOptions } from './options.ts'
import { buildStoredDevices } from './stored-devices.ts'
import { updateRateSection } from './update-rate.ts'

const options = readOptions(process.argv.slice(2))
const stored = await buildStoredDevices(Math.max(fleet.length, options.mostConnections))

const measure: Record<Part, () => Promise<string>> = {
  'fan-out': () => fanOutSection(stored, options),
  memory: () => idleMemorySection(stored, options),
  latency: () => noticeLatencySection(stored, options),
  updates: () => updateRateSection(stored, options),
  triggers: () => besideDevicesSection(stored, options),
}
const sections: string[] = []
for (const part of options.only) sections.push(await measure[part]())
publish('Devices', sections, options)
process.exit()
