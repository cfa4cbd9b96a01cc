// A host whose n-th change of the disk is where the process dies, or where the disk fails. Plain JavaScript: the process that
// is killed runs the built program.

/** Methods that change the disk. */
const mutating = ['mkdir', 'createFile', 'copyOwnership', 'rename', 'removeFile', 'removeDir'];

/**
 * @param host the real one
 * @param at(step) called before each change with {number, method, args}; may throw, or end the process
 */
export function faultHost(host, at) {
  let number = 0;
  const wrapped = { ...host };
  for (const method of mutating) {
    wrapped[method] = async (...args) => {
      await at({ number: number++, method, args });
      return host[method](...args);
    };
  }
  return wrapped;
}
