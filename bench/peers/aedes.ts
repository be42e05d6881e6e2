// aedes, an MQTT broker for Node, which publishes on command: one message to each topic, from inside its process, which is
// faster than from a client.

import { type AddressInfo, createServer } from 'node:net'
import { Aedes } from 'aedes'
import type { AedesCommand } from '../devices/senders.ts'
import { tellParent } from '../server-process.ts'

const broker = await Aedes.createBroker()
const server = createServer({ noDelay: true }, broker.handle)
let topics: string[] = []
process.on('message', (command: AedesCommand) => {
  if ('topics' in command) {
    topics = command.topics
    return
  }
  for (const topic of topics) {
    broker.publish({ ...command, cmd: 'publish', topic, retain: false, dup: false }, failed)
  }
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 8192 }, () =>
  tellParent((server.address() as AddressInfo).port),
)

function failed(error: Error | undefined): void {
  if (error) throw error
}
