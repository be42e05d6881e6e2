// An agent on the user's own broker: its flags, and what the broker keeps of it.

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { type AgentFlags, runAgent, startAgent } from '@jobcast/agent'
import { certificates, makeClientCertificate } from '@jobcast/testkit/certificates'
import { openMosquitto, withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { connect, connectAsync, type IPublishPacket } from 'mqtt'

async function refusal(flags: AgentFlags): Promise<string> {
  const [stdout, stderr] = [new PassThrough().resume(), new PassThrough()]
  const code = await runAgent(
    { stdout, stderr, env: {}, signals: new EventEmitter() },
    { device: 'd1', handlers: '/nowhere', ...flags },
  )
  stderr.end()
  assert.equal(code, 2)
  return text(stderr)
}

test('flags of a broker that do not fit together are said', async (t) => {
  const broker = 'mqtts://127.0.0.1:1'
  const { cert, key } = await makeClientCertificate('d1')
  const both = { brokerCertFile: cert, brokerKeyFile: key }
  const cases: [AgentFlags, RegExp][] = [
    [{ brokerPrefix: 'a' }, /--broker-prefix needs --broker/],
    [both, /--broker-cert-file needs --broker/],
    [{ broker, brokerCertFile: cert }, /--broker-cert-file and --broker-key-file must be set together/],
    [{ broker, brokerKeyFile: key }, /--broker-cert-file and --broker-key-file must be set together/],
    [{ broker: 'mqtt://127.0.0.1:1', ...both }, /--broker-cert-file needs an address with mqtts or wss/],
    [
      { broker, brokerCertFile: cert, brokerKeyFile: certificates.serverKey },
      /are not a certificate and its key/,
    ],
    [
      { broker, brokerCertFile: '/nowhere', brokerKeyFile: key },
      /the certificate \/nowhere cannot be read: no such file/,
    ],
    [{ broker }, /--token-file must name a file/],
  ]
  for (const [flags, said] of cases) assert.match(await refusal(flags), said)

  const open = join(temporaryFolder(t), 'key')
  writeFileSync(open, 'x')
  chmodSync(open, 0o644)
  const others = await refusal({ broker, brokerCertFile: cert, brokerKeyFile: open })
  assert.match(others, /others can read the key .* \(mode 0644\): chmod 600/)
})

test('the broker keeps a request for a service that is away, for as long as the agent waits', {
  skip: withoutMosquitto,
}, async (t) => {
  const { url } = await openMosquitto(t)
  const topicPrefix = 'jobcast/things'
  const session = { clientId: 'service', clean: false, protocolVersion: 5 } as const
  const properties = { sessionExpiryInterval: 3600 }
  const before = await connectAsync(url, { ...session, properties })
  const requests = `${topicPrefix}/d1/jobs/start-next`
  await before.subscribeAsync(requests, { qos: 1 })
  await before.endAsync()

  // Another client learns when the request has been sent.
  const witness = await connectAsync(url)
  t.after(() => witness.endAsync(true))
  const sent = new Promise((resolve) => witness.once('message', resolve))
  await witness.subscribeAsync(requests)
  const folder = temporaryFolder(t)
  const agent = await startAgent({
    deviceId: 'd1',
    server: { by: 'mqtt', url, topicPrefix },
    readToken: () => '',
    handlersFolder: folder,
    stateFolder: join(folder, 'state'),
    allowCommands: false,
  })
  t.after(() => agent.stop())
  await sent

  const service = connect(url, { ...session, properties })
  t.after(() => service.endAsync(true))
  const kept = await new Promise<IPublishPacket>((resolve) =>
    service.once('message', (_topic, _payload, packet) => resolve(packet)),
  )
  const seconds = kept.properties?.messageExpiryInterval ?? Number.NaN
  assert.ok(seconds > 0 && seconds <= 30, `it expires after ${seconds} s`)
})
