// Flags of the commands that run a server, generated from the server's table of settings.

import {
  type Config,
  ConfigError,
  envName,
  loadConfig,
  namedNumbers,
  numberMeant,
  type SettingName,
  settings,
  spelledOutNames,
} from '@jobcast/server'
import { Command, InvalidArgumentError, Option } from 'commander'

export function serverCommand(name: string): Command {
  const command = new Command(name).configureHelp({ helpWidth: 110 })
  for (const [setting, { kind, argument, help, default: fallback }] of Object.entries<Described>(settings)) {
    const flag = argument === undefined ? `--${setting}` : `--${setting} <${argument}>`
    const shown = fallback === undefined || fallback === false ? '' : ` (default ${fallback})`
    const option = new Option(flag, help + shown)
    if (kind === 'numbers') option.argParser((text, before: string[] = []) => [...before, text])
    command.addOption(option)
  }
  for (const spelled of spelledOutNames) if (!(spelled in settings)) command.addOption(refusedOption(spelled))
  command.option('--config <file>', 'YAML file with settings named like the flags, for example "port: 8080"')
  command.option('--check', 'check the settings and exit without starting')
  const example = envName('max-devices')
  command.addHelpText(
    'after',
    `
${describeNumbers('quota', 'Quotas')}

${describeNumbers('rate', 'Rates')}

Every setting can also come from the environment (--max-devices as ${example},
--quota as ${envName('quota')}=devices=100000,webhooks=50) or from the --config file (quota: {devices: 100000}).
Flags take precedence over the environment, the environment over the file.

  DATABASE_URL        use PostgreSQL instead of the embedded database: postgres://user:password@host:5432/database
  JOBCAST_ADMIN_KEY   the admin API key to create on the first start ("jobcast new-key" prints one)

DATABASE_URL_FILE and JOBCAST_ADMIN_KEY_FILE name files that hold them. The files of --tls-cert and --tls-key are read again when they change, and on SIGHUP.
`,
  )
  return command
}

/** A hidden flag for a quota or rate that is not a flag of its own; the error names the valid form. */
function refusedOption(spelled: string): Option {
  const { setting, name } = numberMeant(spelled) ?? {}
  return new Option(`--${spelled} <number>`).hideHelp().argParser((text) => {
    throw new InvalidArgumentError(`There is no such setting; use --${setting} ${name}=${text}.`)
  })
}

function describeNumbers(setting: keyof typeof namedNumbers, title: string): string {
  const lines = namedNumbers[setting].names.map(
    ({ name, limit, what }) => `  ${name.padEnd(20)}${what} (default ${limit})`,
  )
  return [`${title}, for --${setting}:`, ...lines].join('\n')
}

type Described = { kind: string; argument?: string; help: string; default: unknown }

/** Commander names flags in camel case; settings are named as on the command line. */
export function configOf(options: Record<string, unknown>, env: NodeJS.ProcessEnv): Config {
  const flags = Object.fromEntries(
    (Object.keys(settings) as SettingName[]).map((name) => [name, options[camelCase(name)]]),
  )
  return loadConfig({ ...flags, ...(typeof options.config === 'string' && { config: options.config }) }, env)
}

/** `config`: undefined if the settings are invalid. */
export function explainStartError(error: unknown, config?: Config): string {
  if (error instanceof ConfigError) {
    return ['jobcast: invalid settings:', ...error.problems.map((problem) => `  - ${problem}`)].join('\n')
  }
  return `jobcast: cannot start: ${explain(error, config)}`
}

type StartError = {
  name?: string
  message?: string
  code?: string
  address?: string
  hostname?: string
  port?: number
  cause?: unknown
}

/** One sentence, with advice, for problems that the user can fix; a stack for all others. */
function explain(error: unknown, config: Config | undefined): string {
  const { name, message, code, address, hostname, port, cause } = error as StartError
  if (name === 'StartRefused') return `${message}`
  if (name === 'StorageUnavailable') return `${message}${databaseAdvice(cause)}`
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} is in use. ${portAdvice(port, config)}; 0 picks a free one.`
    case 'EACCES':
      if (port === undefined) break
      return `this user is not allowed to listen on port ${port}. Choose a port from 1024 up with ${portFlags}.`
    case 'EADDRNOTAVAIL':
      return `this machine does not have the address ${address}. Set ${hostFlags} to one that it has.`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the host name ${hostname} cannot be resolved. Set ${hostFlags} to an address of this machine.`
    case 'ENOSPC':
      return 'the disk is full. Free some space, or choose another folder with --data.'
  }
  return error instanceof Error ? `${error.stack}` : String(error)
}

/** One port is reported at a time; another Jobcast on this machine usually has all three. */
function portAdvice(port: number | undefined, config: Config | undefined): string {
  const named = [
    ['--port', config?.port],
    ['--mqtt-port', config?.mqttPort],
    ['--metrics-port', config?.metrics.port],
  ] as const
  const flag = named.find(([, taken]) => taken === port)?.[0]
  const others = named.flatMap(([name]) => (name === flag ? [] : [name]))
  if (port === undefined || flag === undefined) return `Choose another with ${portFlags}`
  return `Choose another with ${flag}, and with ${others.join(' and ')} if another Jobcast runs on this machine`
}

const portFlags = '--port (HTTP), --mqtt-port (MQTT) or --metrics-port'
const hostFlags = '--host or --metrics-host'

function databaseAdvice(cause: unknown): string {
  const { code } = (cause ?? {}) as StartError
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return '. The host name in DATABASE_URL cannot be resolved.'
  if (code === 'ECONNREFUSED') return '. Is PostgreSQL running at the address in DATABASE_URL?'
  return ''
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
