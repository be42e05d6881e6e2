// A bridge to the user's own broker, as shown in lists. Bridges are defined in the settings of the service.

import Type, { type Static } from 'typebox'
import { Page } from './page.ts'
import { Instant, orNull } from './text.ts'

export const bridgeStates = ['connected', 'connecting', 'down', 'unknown'] as const
export type BridgeState = (typeof bridgeStates)[number]

export const BridgeEventsView = Type.Object(
  {
    topic: Type.String({ description: 'The topic on which events are published' }),
    cursor: orNull(Type.Integer(), {
      description:
        'The event up to which the broker has acknowledged them; null if none has been published yet',
    }),
    failingSince: orNull(Instant, {
      description:
        'Since when the broker has rejected the next event, which is retried until it is accepted; null while events are accepted',
    }),
    leftOut: Type.Integer({
      description:
        'Events that were skipped because they are too large for the broker, since the node runs the bridge',
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
        '`connecting`: no attempt has failed yet. `down`: it is not connected; the service retries. `unknown`: no node has reported for 5 seconds, ' +
        'for example because another one is taking over',
    }),
    since: orNull(Instant, {
      description:
        'When it was last connected or disconnected, at the earliest when the node that runs the bridge took over. Null if unknown',
    }),
    lastError: orNull(Type.String(), {
      description:
        'The last error, kept after the bridge has recovered: of the connection, the sign-in, a subscription, or a message or event that the broker rejected. ' +
        'Null if there was none since the node runs the bridge',
    }),
    lastErrorAt: orNull(Instant),
    lagMs: Type.Integer({
      description: 'How long the oldest request that is not yet on disk has been waiting, in milliseconds',
    }),
    devicesOnline: Type.Integer({
      description:
        'Devices that sent a message over it within `bridge-silence`, since the node runs the bridge',
    }),
    waiting: Type.Integer({ description: 'Messages that have not been sent to the broker yet' }),
    received: Type.Integer({ description: 'Messages from the broker since the node runs the bridge' }),
    sent: Type.Integer({ description: 'Messages to the broker since the node runs the bridge' }),
    dropped: Type.Integer({ description: 'Responses that were dropped because the broker is too slow' }),
    events: orNull(BridgeEventsView, { description: 'Null if the bridge publishes no events' }),
    nodeNo: orNull(Type.Integer(), {
      description:
        'With several nodes: the node that runs the bridge. Its connections to PostgreSQL are called `jobcast node <nodeNo>`. Null with one node, or if unknown',
    }),
    asOf: orNull(Instant, {
      description:
        'When the node that runs the bridge reported this, except `events.cursor`, which is always current: up to 5 seconds ago if another node responds. Null if unknown',
    }),
  },
  { title: 'Bridge' },
)
export type Bridge = Static<typeof Bridge>

export const BridgePage = Page(Bridge)
