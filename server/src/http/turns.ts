// Large requests take turns: between two of them the event loop gets to everybody else. Ten thousand devices
// keep it busy for some 10 ms, half of it when they are read and half when they are answered; eight such callers
// at once had made /livez wait for more than 100 ms.

const largeBytes = 64 * 1024
const largeDevices = 1000

let lastTurn: Promise<void> = Promise.resolve()

/** Resolves when it is time to work on so much input; undefined when it is little enough to be worked on at once. */
export function turnToRead(bytes: number): Promise<void> | undefined {
  return bytes < largeBytes ? undefined : nextTurn()
}

export function turnToAnswer(devices: number): Promise<void> | undefined {
  return devices < largeDevices ? undefined : nextTurn()
}

function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)))
  return lastTurn
}
