// Lists: `?limit=50&cursor=…` returns `{items, nextCursor}`.

import Type, { type Static, type TSchema } from 'typebox'

export const PageQuery = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
    cursor: Type.Optional(Type.String({ maxLength: 512, description: 'nextCursor of the previous page' })),
  },
  { additionalProperties: false },
)
export type PageQuery = Static<typeof PageQuery>

export const Page = <T extends TSchema>(item: T) =>
  Type.Object({
    items: Type.Array(item),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: 'Pass it as `cursor` to get the next page; null on the last page',
    }),
  })
export type Page<T> = { items: T[]; nextCursor: string | null }

export const WaitQuery = Type.Object(
  {
    wait: Type.Integer({
      minimum: 0,
      maximum: 60,
      default: 0,
      description: 'How many seconds to wait for the end before answering',
    }),
  },
  { additionalProperties: false },
)
export type WaitQuery = Static<typeof WaitQuery>
