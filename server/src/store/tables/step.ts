// The type of store steps over plain tables, whose first argument is the database interface.

import type { Store } from '../../domain/common/ports/store.ts'
import type { Queries, Writes } from '../queries.ts'

type StepName = keyof Store
export type Input<Name extends StepName> = Parameters<Store[Name]>[0]
type Output<Name extends StepName> = Awaited<ReturnType<Store[Name]>>

export type Steps<Names extends StepName, Asking> = {
  [Name in Names]: (queries: Asking, input: Input<Name>) => Promise<Output<Name>>
}

export type ReadSteps<Names extends StepName> = Steps<Names, Queries>
/** Each step is one transaction. */
export type WriteSteps<Names extends StepName> = Steps<Names, Writes>

type AnySteps = { readonly [name: string]: (queries: never, input: never) => Promise<unknown> }
type AskingOf<All extends AnySteps> = Parameters<All[keyof All]>[0]
type AnyInputOf<All extends AnySteps> = Parameters<All[keyof All]>[1]

/** Steps of the port, which only take the input. */
export type Bound<All extends AnySteps> = {
  [Name in keyof All]: All[Name] extends (queries: never, input: infer In) => infer Out
    ? (...input: undefined extends In ? [input?: In] : [input: In]) => Out
    : never
}

/** `carryOut` passes the database interface to a step. */
export function bind<All extends AnySteps>(
  steps: All,
  carryOut: (step: (queries: AskingOf<All>) => Promise<unknown>, input: AnyInputOf<All>) => Promise<unknown>,
): Bound<All> {
  const bound = Object.entries(steps).map(([name, step]) => [
    name,
    (input: AnyInputOf<All>) => carryOut((queries) => step(queries as never, input as never), input),
  ])
  return Object.fromEntries(bound)
}
