// jobcast bridges: connections of the service to your own MQTT brokers.

import type { Bridge } from '@jobcast/client'
import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { listCommand } from '../define/list-command.ts'
import { localTime } from '../output/local-time.ts'

const colors = { connected: 'green', connecting: 'yellow', down: 'red', unknown: 'yellow' } as const

export function bridgesCommand(): Command {
  const ls = listCommand<Bridge>(
    [
      { title: 'BRIDGE', of: ({ bridgeName }) => bridgeName },
      {
        title: 'STATE',
        of: ({ state }) => state,
        paint: (text, { state }, paint) => paint(colors[state], text),
      },
      { title: 'SINCE', of: ({ since }) => localTime(since) },
      { title: 'DEVICES', of: ({ devicesOnline }) => devicesOnline },
      { title: 'LAG', of: ({ lagMs }) => `${lagMs} ms` },
      { title: 'EVENTS', of: eventsText },
      { title: 'NODE', of: ({ nodeNo }) => nodeNo },
      { title: 'LAST ERROR', of: errorText },
    ],
    (client) => client.fleet.bridges({ limit: 200 }),
  )
  return groupCommand(
    'bridges',
    ls.description('List the bridges to your own MQTT brokers, and whether they work (default).'),
  ).addHelpText('after', '\nBridges are set where the service runs: jobcast serve --bridge mqtts://…\n')
}

function eventsText({ events }: Bridge): string | null {
  if (events === null) return null
  return events.failingSince === null
    ? `up to ${events.cursor ?? 'none'}`
    : `failing since ${localTime(events.failingSince)}`
}

function errorText({ lastError, lastErrorAt }: Bridge): string | null {
  return lastError === null ? null : `${localTime(lastErrorAt)}: ${lastError}`
}
