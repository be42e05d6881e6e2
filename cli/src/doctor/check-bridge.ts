// The user's own broker: whether a bridge can work there, and whether its access rules keep devices apart.

import { readFileSync } from 'node:fs'
import {
  type BridgeSettings,
  ConfigError,
  examineBroker,
  type Impersonation,
  loadBridge,
  sendsPasswordInClear,
} from '@jobcast/server'
import { exitCode } from '../errors/exit-code.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

export type BridgeFlags = {
  bridge?: string
  bridgePrefix?: string
  bridgeDevice?: string
  bridgePasswordFile?: string
}

export async function* checkBridge(env: NodeJS.ProcessEnv, flags: BridgeFlags): AsyncGenerator<Finding> {
  const { bridge, bridgePrefix, bridgeDevice: user, bridgePasswordFile: file } = flags
  if (bridge === undefined) return
  let settings: BridgeSettings
  let password: string | undefined
  try {
    settings = loadBridge(bridge, bridgePrefix, env)
    password = file === undefined ? undefined : readFileSync(file, 'utf8').trim()
  } catch (error) {
    yield problem(
      'broker',
      (error as Error).message,
      error instanceof ConfigError ? exitCode.usage : exitCode.validation,
    )
    return
  }
  const others = user === undefined ? [{}] : [{}, { user, password }]
  let found: Impersonation[]
  try {
    found = await examineBroker(settings, others)
  } catch (error) {
    yield problem(
      'broker',
      `a bridge does not work at ${bridge}: ${(error as Error).message}`,
      exitCode.unavailable,
    )
    return
  }
  yield ok('broker', `a bridge works at ${bridge}`)
  if (sendsPasswordInClear(settings))
    yield warning('broker password', 'it is sent in clear text: use mqtts or wss')
  const [anonymous, device] = found
  if (anonymous) yield judgeAnonymous(anonymous)
  yield device
    ? judgeDevice(`user ${user}`, device)
    : warning('devices', 'not checked: name one with --bridge-device')
}

function judgeAnonymous({ outcome }: Impersonation): Finding {
  if (outcome === 'delivered')
    return warning('anonymous', 'anybody can speak as any device, without a password: set access rules')
  if (outcome === 'refused') return ok('anonymous', 'the broker refuses clients without credentials')
  return ok('anonymous', 'clients without credentials cannot speak as a device')
}

function judgeDevice(who: string, found: Impersonation): Finding {
  if (found.outcome === 'refused')
    return problem('devices', `${who} could not sign in: ${found.reason}`, exitCode.unavailable)
  if (found.outcome === 'blocked') return ok('devices', `${who} cannot speak as another device`)
  return warning('devices', `${who} can speak as any other device: set access rules`)
}
