// A bridge to a broker of the user, as it is listed: the settings of the service say which there are.

import Type, { type Static } from 'typebox'
import { Page } from './page.ts'
import { Instant, orNull } from './text.ts'

export const bridgeStates = ['connected', 'connecting', 'down', 'unknown'] as const
export type BridgeState = (typeof bridgeStates)[number]

export const BridgeEventsView = Type.Object(
  {
    topic: Type.String({ description: 'The topic on which events are published' }),
    cursor: orNull(Type.Integer(), {
      description: 'The event up to which the broker has acknowledged them; null if none was published yet',
    }),
    failingSince: orNull(Instant, {
      description:
        'Since when the broker refuses the next event, which is published again until it is accepted; null while events are accepted',
    }),
    leftOut: Type.Integer({
      description:
        'Events that were left out because they are too large for the broker, counted as `received` is',
    }),
  },
  { title: 'BridgeEvents' },
)

export const Bridge = Type.Object(
  {
    bridgeName: Type.String(),
    state: Type.Unsafe<BridgeState>({
      type: 'string',
      enum: [...bridgeStates],
      description:
        '`connecting`: no attempt has failed yet. `down`: it is not connected; the service retries. `unknown`: no node has said anything for 5 seconds, ' +
        'for example because another one is taking over',
    }),
    since: orNull(Instant, {
      description:
        'Since when it is connected, or is not; at the earliest since the node that carries it does. Null if unknown',
    }),
    lastError: orNull(Type.String(), {
      description:
        'The last thing that went wrong, also when it works again: the connection, the sign-in, a subscription, or a message or event that the broker refused. ' +
        'Null if there was nothing since the node carries it',
    }),
    lastErrorAt: orNull(Instant),
    lagMs: Type.Integer({
      description:
        'How long the oldest request from the broker has been waiting until it is on disk, in milliseconds',
    }),
    devicesOnline: Type.Integer({
      description:
        'Devices that were heard over it within `bridge-silence`; counted from when the node began to carry it',
    }),
    waiting: Type.Integer({ description: 'Messages that wait for the broker' }),
    received: Type.Integer({ description: 'Messages from the broker since the node carries it' }),
    sent: Type.Integer({ description: 'Messages to the broker since the node carries it' }),
    dropped: Type.Integer({ description: 'Answers that were dropped because the broker is too slow' }),
    events: orNull(BridgeEventsView, { description: 'Null if the bridge publishes no events' }),
    nodeNo: orNull(Type.Integer(), {
      description:
        'With several nodes: the one that carries it. Its connections to PostgreSQL are called `jobcast node <nodeNo>`. Null with one node, or if unknown',
    }),
    asOf: orNull(Instant, {
      description:
        'When the node that carries it said all this, except `events.cursor`, which is current: up to 5 seconds ago if another node answers. Null if unknown',
    }),
  },
  { title: 'Bridge' },
)
export type Bridge = Static<typeof Bridge>

export const BridgePage = Page(Bridge)
