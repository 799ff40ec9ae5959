"""Models that are kept between super-chunks."""

from ._library import LIBRARY


class ReuseModels:
    """Within this context a model is loaded once and kept; all are freed at its end."""

    def __enter__(self):
        LIBRARY.btune_set_reuse_models(True)
        return self

    def __exit__(self, *exception):
        LIBRARY.btune_set_reuse_models(False)
        LIBRARY.btune_free_all_models()
