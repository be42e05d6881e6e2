// How people read who did something: "Ana Pérez" for a person, "key ci-deploy" for a key.

/**
 * `who`: a principal (`user:<subject>`, `key:<keyId>`), or an actor of the history, as it is shown or stored. `name`: of the
 * person or the key; null: it has none, or is of another owner.
 */
export function whoInWords<Who extends string | null>(who: Who, name: string | null): Who | string {
  if (name === null) return who
  return /^(?:key )?user[ :]/.test(who ?? '') ? name : `key ${name}`
}
