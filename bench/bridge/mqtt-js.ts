// What the library of the bridge takes by itself: a client of mqtt.js that stores nothing, publishes on command, and answers
// each report at once.

import { connect } from 'mqtt'
import { tellParent } from '../server-process.ts'

/** Prepares messages, or sends them. */
export type MqttJsCommand = { topics: string[]; payload: string } | 'send'

const filter = '$aws/things/+/jobs/+/update'
const answer = JSON.stringify({ timestamp: Math.floor(Date.now() / 1000) })
/** As the bridge. */
const window = 1000

const brokerPort = Number(process.argv[2])
// By default, each packet goes through several calls of the library "debug".
const client = connect(`mqtt://127.0.0.1:${brokerPort}`, { protocolVersion: 5, log: () => undefined })
let prepared: Exclude<MqttJsCommand, 'send'> = { topics: [], payload: '' }

client.handleMessage = ({ topic }, done) => {
  client.publish(`${topic}/accepted`, answer, { qos: 1 })
  done()
}
await client.subscribeAsync(filter, { qos: 1 })
process.on('message', (command: MqttJsCommand) => {
  if (command === 'send') send()
  else prepared = command
})
client.on('close', () => process.exit(1))
tellParent(brokerPort)

function send(): void {
  const { topics, payload } = prepared
  let next = 0
  const sendNext = () => {
    const topic = topics[next++]
    if (topic !== undefined) client.publish(topic, payload, { qos: 1 }, sendNext)
  }
  for (let each = 0; each < window; each++) sendNext()
}
