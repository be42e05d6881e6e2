// A device program built on aws-iot-device-sdk-v2 as it is. It runs in a process of its own: the native part of the
// SDK keeps a process alive even when every client in it was closed (awslabs/aws-crt-nodejs#600).
// The test that forked it says what to do, see aws-devices.ts.

import { io, iot, iotjobs, mqtt, mqtt5 } from 'aws-iot-device-sdk-v2'
import type { ConnectOptions, FromProgram, InboxName, ToProgram } from './aws-devices.ts'
import { type DeviceClient, Inbox, type Json, Refused } from './device-client.ts'

/** What differs between MQTT 3.1.1 and MQTT 5. */
type Connection = {
  subscribe(topic: string, listener: (topic: string, payload: ArrayBuffer) => void): Promise<unknown>
  requests(): iotjobs.IotJobsClientv2
  topics(): iotjobs.IotJobsClient
  close(): Promise<unknown>
}

type Tell = (inbox: InboxName, message: Json) => void

const requestOptions = {
  maxRequestResponseSubscriptions: 4,
  maxStreamingSubscriptions: 2,
  operationTimeoutInSeconds: 120,
}
const qos = mqtt.QoS.AtLeastOnce

const devices = new Map<number, DeviceClient & { close(): Promise<unknown> }>()

process.on('message', async (order: ToProgram) => {
  const { id, device } = order
  try {
    if (order.call === 'connect') {
      const tell: Tell = (inbox, message) => send({ device, inbox, message })
      devices.set(device, await connect(order.options, tell))
      send({ id, value: null })
    } else {
      const client = devices.get(device)
      const operation = client?.[order.call] as (...args: Json[]) => Promise<Json>
      send({ id, value: (await operation(...order.args)) ?? null })
    }
  } catch (error) {
    if (error instanceof Refused) send({ id, refused: { code: error.code, answer: error.answer } })
    else send({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})
process.on('disconnect', () => process.exit())

function send(message: FromProgram): void {
  process.send?.(message)
}

async function connect(options: ConnectOptions, tell: Tell) {
  const { deviceId: thingName, version, api } = options
  const connection = version === 4 ? await connectMqtt3(options) : await connectMqtt5(options)
  // The SDK knows nothing of our cancel message: its connection is asked for it.
  await connection.subscribe(`$aws/things/${thingName}/jobs/+/cancel`, (topic, payload) => {
    const jobId = /^\$aws\/things\/[^/]+\/jobs\/([^/]+)\/cancel$/.exec(topic)?.[1]
    if (jobId) tell('cancel', { jobId, message: JSON.parse(Buffer.from(payload).toString()) })
  })
  const client =
    api === 'requests'
      ? await openRequests(thingName, connection.requests(), tell)
      : await openTopics(thingName, connection.topics(), tell)
  return { ...client, close: connection.close }
}

async function connectMqtt3(options: ConnectOptions): Promise<Connection> {
  const connection = new mqtt.MqttClient().new_connection(mqtt3Config(options))
  await connection.connect()
  return {
    subscribe: (topic, listener) => connection.subscribe(topic, qos, listener),
    requests: () => iotjobs.IotJobsClientv2.newFromMqtt311(connection, requestOptions),
    topics: () => new iotjobs.IotJobsClient(connection),
    close: () => connection.disconnect(),
  }
}

function mqtt3Config({ deviceId, host, port, token, tls }: ConnectOptions): mqtt.MqttConnectionConfig {
  if (tls) {
    return iot.AwsIotMqttConnectionConfigBuilder.new_mtls_builder_from_path(tls.cert, tls.key)
      .with_certificate_authority_from_path(undefined, tls.ca)
      .with_endpoint(host)
      .with_port(port)
      .with_client_id(deviceId)
      .with_clean_session(true)
      .build()
  }
  return {
    client_id: deviceId,
    host_name: host,
    port,
    username: deviceId,
    password: token as string,
    socket_options: new io.SocketOptions(),
    clean_session: true,
  }
}

async function connectMqtt5(options: ConnectOptions): Promise<Connection> {
  const client = new mqtt5.Mqtt5Client(mqtt5Config(options))
  await new Promise((resolve, reject) => {
    client.on('connectionSuccess', resolve)
    client.on('connectionFailure', ({ error }) => reject(error))
    client.start()
  })
  return {
    async subscribe(topic, listener) {
      client.on('messageReceived', ({ message }) =>
        listener(message.topicName, message.payload as ArrayBuffer),
      )
      const { reasonCodes } = await client.subscribe({ subscriptions: [{ topicFilter: topic, qos }] })
      if (!reasonCodes.every(mqtt5.isSuccessfulSubackReasonCode)) throw new Error(`${topic}: ${reasonCodes}`)
    },
    requests: () => iotjobs.IotJobsClientv2.newFromMqtt5(client, requestOptions),
    topics: () => iotjobs.IotJobsClient.newFromMqtt5Client(client),
    close: () =>
      new Promise((resolve) => {
        client.on('stopped', resolve)
        client.stop()
      }),
  }
}

function mqtt5Config({ deviceId, host, port, token, tls }: ConnectOptions): mqtt5.Mqtt5ClientConfig {
  if (tls) {
    const builder = iot.AwsIotMqtt5ClientConfigBuilder.newDirectMqttBuilderWithMtlsFromPath(
      host,
      tls.cert,
      tls.key,
    )
    return builder
      .withCertificateAuthorityFromPath(undefined, tls.ca)
      .withPort(port)
      .withConnectProperties({ clientId: deviceId, keepAliveIntervalSeconds: 60 })
      .build()
  }
  return {
    hostName: host,
    port,
    connectProperties: {
      clientId: deviceId,
      keepAliveIntervalSeconds: 60,
      username: deviceId,
      // The types ask for bytes, the SDK takes both.
      password: Buffer.from(token as string),
    },
  }
}

/** IotJobsClientv2: requests with answers, and streams. */
async function openRequests(
  thingName: string,
  client: iotjobs.IotJobsClientv2,
  tell: Tell,
): Promise<DeviceClient> {
  const lists = client.createJobExecutionsChangedStream({ thingName })
  const nexts = client.createNextJobExecutionChangedStream({ thingName })
  lists.on('incomingPublish', ({ message }) => tell('notify', message))
  nexts.on('incomingPublish', ({ message }) => tell('notifyNext', message))
  for (const stream of [lists, nexts]) {
    await new Promise<void>((resolve, reject) => {
      stream.on('subscriptionStatus', ({ type, error }) => (type === 0 ? resolve() : reject(error)))
      stream.open()
    })
  }
  const answerOf = (answer: Promise<Json>): Promise<Json> =>
    answer.catch((error) => {
      const { modeledError } = error
      throw modeledError ? new Refused(modeledError.code, modeledError) : error
    })
  return {
    getPending: () => answerOf(client.getPendingJobExecutions({ thingName })),
    startNext: (fields) => answerOf(client.startNextPendingJobExecution({ thingName, ...fields })),
    describe: (jobId, fields) => answerOf(client.describeJobExecution({ thingName, jobId, ...fields })),
    update: (jobId, fields) => answerOf(client.updateJobExecution({ thingName, jobId, ...fields })),
  }
}

type Handler = (error: unknown, answer: Json) => void

/** IotJobsClient: the older way, topic by topic. Its requests carry thingName and jobId in the payload too. */
async function openTopics(
  thingName: string,
  client: iotjobs.IotJobsClient,
  tell: Tell,
): Promise<DeviceClient> {
  const thing = { thingName }
  await client.subscribeToJobExecutionsChangedEvents(thing, qos, (_, message) => tell('notify', message))
  await client.subscribeToNextJobExecutionChangedEvents(thing, qos, (_, message) =>
    tell('notifyNext', message),
  )

  const subscribed = new Map<string, Inbox<Json>>()
  /** Subscribes to both answers the first time, publishes, and waits for one of them. */
  async function request(
    name: string,
    subscribe: (accepted: Handler, rejected: Handler) => Promise<unknown>,
    publish: () => Promise<unknown>,
  ): Promise<Json> {
    const known = subscribed.get(name)
    const inbox = known ?? new Inbox<Json>(name)
    subscribed.set(name, inbox)
    if (!known) {
      await subscribe(
        (_, answer) => inbox.put({ answer }),
        (_, answer) => inbox.put({ answer, isRefused: true }),
      )
    }
    await publish()
    const { answer, isRefused } = await inbox.take()
    if (isRefused) throw new Refused(answer.code, answer)
    return answer
  }

  return {
    getPending: () =>
      request(
        'get',
        async (accepted, rejected) => {
          await client.subscribeToGetPendingJobExecutionsAccepted(thing, qos, accepted)
          await client.subscribeToGetPendingJobExecutionsRejected(thing, qos, rejected)
        },
        () => client.publishGetPendingJobExecutions(thing, qos),
      ),
    startNext: (fields) =>
      request(
        'start-next',
        async (accepted, rejected) => {
          await client.subscribeToStartNextPendingJobExecutionAccepted(thing, qos, accepted)
          await client.subscribeToStartNextPendingJobExecutionRejected(thing, qos, rejected)
        },
        () => client.publishStartNextPendingJobExecution({ ...thing, ...fields }, qos),
      ),
    describe: (jobId, fields) =>
      request(
        `${jobId}/get`,
        async (accepted, rejected) => {
          await client.subscribeToDescribeJobExecutionAccepted({ thingName, jobId }, qos, accepted)
          await client.subscribeToDescribeJobExecutionRejected({ thingName, jobId }, qos, rejected)
        },
        () => client.publishDescribeJobExecution({ thingName, jobId, ...fields }, qos),
      ),
    update: (jobId, fields) =>
      request(
        `${jobId}/update`,
        async (accepted, rejected) => {
          await client.subscribeToUpdateJobExecutionAccepted({ thingName, jobId }, qos, accepted)
          await client.subscribeToUpdateJobExecutionRejected({ thingName, jobId }, qos, rejected)
        },
        () => client.publishUpdateJobExecution({ thingName, jobId, ...fields }, qos),
      ),
  }
}
