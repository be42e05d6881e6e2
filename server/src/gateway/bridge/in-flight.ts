// Messages that the broker has not acknowledged, by their size. If it ends the connection because one is too large, mqtt.js
// would send that one again on each connection: it is the largest of them. Mosquitto refuses what is above its
// `message_size_limit` with a reason that MQTT has for connections only, and mqtt.js says only that the answer is invalid.

import type { MqttClient } from 'mqtt'

/** In the words of mqtt.js. */
const invalidAnswer = 'Invalid puback reason code'

export class InFlight {
  readonly #client: MqttClient
  readonly #bytes = new Map<number, number>()

  constructor(client: MqttClient) {
    this.#client = client
    client.on('packetsend', (packet) => {
      if (packet.cmd === 'publish' && packet.messageId !== undefined && packet.qos > 0)
        this.#bytes.set(packet.messageId, Buffer.byteLength(packet.payload))
    })
    client.on('packetreceive', (packet) => {
      if (packet.cmd === 'puback' && packet.messageId !== undefined) this.#bytes.delete(packet.messageId)
    })
  }

  /** False: the error is another one. */
  removeRefused(error: Error): boolean {
    return error.message === invalidAnswer && this.removeLargest()
  }

  /** Its publication fails. False: there is none. */
  removeLargest(): boolean {
    let largest: { messageId: number; bytes: number } | undefined
    for (const [messageId, bytes] of this.#bytes)
      if (largest === undefined || bytes > largest.bytes) largest = { messageId, bytes }
    if (largest === undefined) return false
    this.#bytes.delete(largest.messageId)
    this.#client.removeOutgoingMessage(largest.messageId)
    return true
  }
}
