// Converts errors of a full or failing disk to StorageUnavailable.

import { StorageUnavailable } from '../../domain/common/ports/storage-errors.ts'

export async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new StorageUnavailable(error)
  }
}
