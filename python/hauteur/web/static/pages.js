// The addresses of other pages, as the navigation has them.

const entry = (name) => document.querySelector(`nav [data-page="${name}"]`);

export const pageAt = (name) => entry(name).getAttribute("href");

// Whether there is such a page: without a server some are missing.
export const hasPage = (name) => entry(name) !== null;

// The page of a method; those of a page without a server are files in one folder.
export function methodAt(name) {
  const methods = pageAt("methods");
  return methods.endsWith(".html") ? `method-${name}.html` : `${methods}/${name}`;
}
