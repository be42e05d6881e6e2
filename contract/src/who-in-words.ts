// Describes a principal for people: "Ana Pérez" for a person, "key ci-deploy" for a key, "enrollment gates" for an enrollment.

/**
 * `who`: a principal (`user:<subject>`, `key:<keyId>`, `enrollment:<enrollmentId>`), or an actor of the history in its stored
 * or API form. `name`: the name of the person, the key or the enrollment; null: it has none, or belongs to another owner.
 */
export function whoInWords<Who extends string | null>(who: Who, name: string | null): Who | string {
  if (name === null) return who
  if (who?.startsWith('enrollment:')) return `enrollment ${name}`
  return /^(?:key )?user[ :]/.test(who ?? '') ? name : `key ${name}`
}
