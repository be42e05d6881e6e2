// jobcast migrate: migrates a database to the current schema.

import { checkSchema, describePlace, migrateStore, requireDatabase } from '@jobcast/server'
import type { Command } from 'commander'
import { type StoreFlags, storeCommand, withDatabase } from '../database/store-command.ts'
import { exitCode } from '../errors/exit-code.ts'

export function migrateCommand(): Command {
  return storeCommand('migrate')
    .option('--check', 'only check whether the schema is up to date; exits with 6 if it is not')
    .addHelpText('after', '\n"jobcast serve" migrates automatically at start.\n')
    .action(
      withDatabase(async ({ out, place }, { check }: StoreFlags & { check?: boolean }) => {
        requireDatabase(place)
        const { from, to } = await (check ? checkSchema(place) : migrateStore(place))
        const isCurrent = from === to
        const where = describePlace(place)
        const done = check
          ? `would be migrated from schema ${from} to ${to}`
          : `was migrated from schema ${from} to ${to}`
        const text = isCurrent ? `is up to date (schema ${to})` : done
        out.show({ from, to, migrated: !isCurrent && !check }, () => `The database at ${where} ${text}.`)
        return check && !isCurrent ? exitCode.differs : exitCode.ok
      }),
    )
}
