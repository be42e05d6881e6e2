// Flags of the commands that run a server, generated from the server's table of settings.

import { type Config, ConfigError, envName, loadConfig, type SettingName, settings } from '@jobcast/server'
import { Command, Option } from 'commander'

export function serverCommand(name: string): Command {
  const command = new Command(name).configureHelp({ helpWidth: 110 })
  for (const [setting, { argument, help, default: fallback }] of Object.entries<Described>(settings)) {
    const flag = argument === undefined ? `--${setting}` : `--${setting} <${argument}>`
    const shown = fallback === undefined || fallback === false ? '' : ` (default ${fallback})`
    command.addOption(new Option(flag, help + shown))
  }
  command.option('--config <file>', 'YAML file with settings named like the flags, for example "port: 8080"')
  command.option('--check', 'check the settings and exit without starting')
  const example = envName('max-devices')
  command.addHelpText(
    'after',
    `
Every setting can also come from the environment (--max-devices as ${example}) or from the --config file.
Flags take precedence over the environment, the environment over the file.

  DATABASE_URL        use PostgreSQL instead of the embedded database: postgres://user:password@host:5432/database
  JOBCAST_ADMIN_KEY   the admin API key to create on the first start ("jobcast new-key" prints one)
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

// An address or a data folder that cannot be used.
const invalid = new Set(['EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND', 'EROFS', 'EEXIST', 'ENOTDIR', 'EPERM'])

/** Another setting would help, not another attempt. */
export function isInvalidSetting(error: unknown): boolean {
  return error instanceof ConfigError || invalid.has((error as NodeJS.ErrnoException).code ?? '')
}

/** Without a stack for what the user can fix. */
export function explainStartError(error: unknown): string {
  const { name, message, code, port } = error as {
    name?: string
    message?: string
    code?: string
    port?: number
  }
  if (error instanceof ConfigError) {
    return ['jobcast: invalid settings:', ...error.problems.map((problem) => `  - ${problem}`)].join('\n')
  }
  if (name === 'StartRefused' || name === 'StorageUnavailable') return `jobcast: cannot start: ${message}`
  if (code === 'EADDRINUSE') {
    const flags = '--port (HTTP) or --mqtt-port (MQTT)'
    return `jobcast: cannot start: port ${port} is in use. Choose another with ${flags}; 0 picks a free one.`
  }
  if (isInvalidSetting(error) || code === 'ENOSPC') return `jobcast: cannot start: ${message}`
  return `jobcast: cannot start: ${error instanceof Error ? error.stack : String(error)}`
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
