# Adds /api/model/library from hermes_compat_model_library.py (sha256 __MODULE_SHA256__).
# To take it out: hermes-compat patch revert model-library
try:
    from hermes_cli import hermes_compat_model_library as _hermes_compat_model_library

    _hermes_compat_model_library.install(app)
except Exception as _hermes_compat_error:
    import logging as _hermes_compat_logging

    _hermes_compat_logging.getLogger("hermes-compat").warning("model-library: %s", _hermes_compat_error)
