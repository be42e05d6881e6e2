import { Option } from 'commander'

/** The option of commands that open a database. */
export function dataOption(): Option {
  return new Option(
    '--data <folder>',
    'folder of an embedded database (default: DATABASE_URL, else JOBCAST_DATA, else ./data)',
  )
}
