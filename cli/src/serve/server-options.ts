// Flags of the commands that run a server, made from the server's own table of settings.

import { type Config, ConfigError, envName, loadConfig, type SettingName, settings } from '@jobcast/server'
import { Command, Option } from 'commander'

export function serverCommand(name: string): Command {
  const command = new Command(name).configureHelp({ helpWidth: 110 })
  for (const [setting, { argument, help, default: fallback }] of Object.entries<Described>(settings)) {
    const flag = argument === undefined ? `--${setting}` : `--${setting} <${argument}>`
    const shown = fallback === undefined || fallback === false ? '' : ` (default ${fallback})`
    command.addOption(new Option(flag, help + shown))
  }
  command.option('--config <file>', 'YAML file with the same names as the flags, for example "port: 8080"')
  command.option('--check', 'report problems with the settings, start nothing')
  const example = envName('max-devices')
  command.addHelpText(
    'after',
    `
Every flag can also be set in the environment, --max-devices as ${example}, or in the file.
A flag wins over the environment, the environment over the file.

  DATABASE_URL        PostgreSQL instead of the embedded database: postgres://user:password@host:5432/database
  JOBCAST_ADMIN_KEY   the API key to make on the first start, instead of a new one ("jobcast new-key" prints one)
`,
  )
  return command
}

type Described = { argument?: string; help: string; default: unknown }

/** Commander names flags in camel case; settings are named as on the command line. */
export function configOf(options: Record<string, unknown>, env: NodeJS.ProcessEnv): Config {
  const flags = Object.fromEntries(
    (Object.keys(settings) as SettingName[]).map((name) => [name, options[camelCase(name)]]),
  )
  return loadConfig({ ...flags, ...(typeof options.config === 'string' && { config: options.config }) }, env)
}

// Address or data folder: wrong, not ours, not a folder, or no place left.
const mendable = new Set([
  'EACCES',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EROFS',
  'EEXIST',
  'ENOTDIR',
  'ENOSPC',
  'EPERM',
])

/** What a person can mend is said in a sentence each, without a stack. */
export function explainStartError(error: unknown): string {
  const { name, message, code, port } = error as {
    name?: string
    message?: string
    code?: string
    port?: number
  }
  if (error instanceof ConfigError) {
    return [
      'jobcast cannot start with these settings:',
      ...error.problems.map((problem) => `  - ${problem}`),
    ].join('\n')
  }
  if (name === 'StartRefused' || name === 'StorageUnavailable') return `jobcast cannot start: ${message}`
  if (code === 'EADDRINUSE')
    return `jobcast cannot start: port ${port} is in use. --port takes another, --port 0 a free one.`
  if (code !== undefined && mendable.has(code)) return `jobcast cannot start: ${message}`
  return `jobcast cannot start: ${error instanceof Error ? error.stack : String(error)}`
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
