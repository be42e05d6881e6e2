// Free of schemas, so that threads of the store can use it.

/** Stands for a window in a run that ignores all of them, also those of devices and groups. */
export const anyTime = ''
