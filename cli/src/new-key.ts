// jobcast new-key: a well-formed API key for JOBCAST_ADMIN_KEY.

import { newSecretText } from '@jobcast/server'
import { Command } from 'commander'

export function newKeyCommand(): Command {
  return new Command('new-key').action(() => console.log(newSecretText('jc').text))
}
