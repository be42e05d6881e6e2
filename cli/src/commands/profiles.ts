// jobcast profiles: lists and changes the profiles saved by login.

import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { plainCommand, withOut } from '../define/owner-command.ts'
import { revokeSignIn } from '../service/person-login.ts'
import { profilesFile, readProfiles, removeProfile, useProfile } from '../service/profiles.ts'

export function profilesCommand(): Command {
  return groupCommand('profiles', lsCommand(), useCommand(), rmCommand())
}

function lsCommand(): Command {
  return plainCommand('ls')
    .description('List profiles (default).')
    .action(
      withOut(async ({ out, io }) => {
        const { current, byName } = readProfiles(profilesFile(io.env))
        const rows = [...byName].map(([name, { url }]) => ({ name, url, current: name === current }))
        out.showTable(rows, [
          { title: 'PROFILE', of: ({ name }) => name },
          { title: 'URL', of: ({ url }) => url },
          { title: 'CURRENT', of: (row) => (row.current ? 'yes' : 'no') },
        ])
      }),
    )
}

function useCommand(): Command {
  return plainCommand('use')
    .description('Make a profile the current one.')
    .argument('<name>')
    .action(
      withOut(async ({ out, io }, name: string) => {
        await useProfile(profilesFile(io.env), name)
        out.say(`Profile "${name}" is now the current profile.`)
      }),
    )
}

function rmCommand(): Command {
  return plainCommand('rm')
    .description('Delete a profile. A key stays valid; a sign-in with OpenID Connect ends.')
    .argument('<name>')
    .action(
      withOut(async ({ out, io }, name: string) => {
        const file = profilesFile(io.env)
        const { person } = await removeProfile(file, name)
        if (person) await revokeSignIn(person)
        out.say(`Deleted profile "${name}".`)
      }),
    )
}
