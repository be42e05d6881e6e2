// What takes milliseconds of the event loop takes turns: between two of them everybody else is served.

let lastTurn: Promise<void> = Promise.resolve()

export function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)))
  return lastTurn
}
