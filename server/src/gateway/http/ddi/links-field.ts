/** What hawkBit calls the links of a resource. */
export const linksField = '_links'
