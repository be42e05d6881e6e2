// jobcast migrate: brings a database to the schema of this program, and ends.

import { checkSchema, describePlace, migrateStore } from '@jobcast/server'
import type { Command } from 'commander'
import { type StoreFlags, storeCommand, withPlace } from '../database/store-command.ts'
import { exitCode } from '../errors/exit-code.ts'

export function migrateCommand(): Command {
  return storeCommand('migrate')
    .option('--check', 'only say whether there is something to do')
    .addHelpText(
      'after',
      '\n"jobcast serve" migrates by itself. With --check it ends with 6 where there is something to do, else with 0.\n',
    )
    .action(
      withPlace(async ({ out, place }, { check }: StoreFlags & { check?: boolean }) => {
        const { from, to } = await (check ? checkSchema(place) : migrateStore(place))
        const isCurrent = from === to
        const where = describePlace(place)
        const done = check
          ? `would be migrated from schema ${from} to ${to}`
          : `was migrated from schema ${from} to ${to}`
        const text = isCurrent ? `has schema ${to}: there is nothing to do` : done
        out.show({ from, to, migrated: !isCurrent && !check }, () => `The database at ${where} ${text}.`)
        return check && !isCurrent ? exitCode.differs : exitCode.ok
      }),
    )
}
