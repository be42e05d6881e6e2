// npm run bench:bridge: what the bridge adds to a mosquitto, compared with the same mosquitto without Jobcast in the same run.

import { buildStoredDevices } from '../devices/stored-devices.ts'
import { hasMosquitto } from '../peers/mosquitto.ts'
import { publish } from '../report.ts'
import { noticesSection } from './notices.ts'
import { readOptions } from './options.ts'
import { reportsSection } from './reports.ts'
import { slowBrokerSection } from './slow-broker.ts'

const options = readOptions(process.argv.slice(2))
if (!hasMosquitto()) throw new Error('mosquitto is not on the PATH')
const stored = await buildStoredDevices(options.devices)
const measure = { notices: noticesSection, reports: reportsSection, 'slow-broker': slowBrokerSection }
const sections: string[] = []
for (const part of options.only) sections.push(await measure[part](stored, options))
publish('Bridge', sections, options)
process.exit()
