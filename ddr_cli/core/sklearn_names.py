"""The scikit-learn classes that a document may name without ``--trust``, by module.

They fit arrays and touch no file, as long as their parameters are plain (see
`ddr_cli.core.parameters.undeclared_texts`). Classes that take other estimators, functions, texts or
file names, such as pipelines, searches and vectorizers, are not listed.
"""

from __future__ import annotations

from types import MappingProxyType

_NAMES = MappingProxyType(
    {
        "cluster": "Birch BisectingKMeans FeatureAgglomeration KMeans MiniBatchKMeans",
        "decomposition": "DictionaryLearning FactorAnalysis FastICA IncrementalPCA KernelPCA"
        " LatentDirichletAllocation MiniBatchDictionaryLearning MiniBatchNMF MiniBatchSparsePCA NMF"
        " PCA SparsePCA TruncatedSVD",
        "discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
        "dummy": "DummyClassifier",
        "ensemble": "AdaBoostClassifier BaggingClassifier ExtraTreesClassifier"
        " GradientBoostingClassifier HistGradientBoostingClassifier RandomForestClassifier"
        " RandomTreesEmbedding",
        "feature_extraction.text": "TfidfTransformer",
        "feature_selection": "GenericUnivariateSelect SelectFdr SelectFpr SelectFwe SelectKBest"
        " SelectPercentile VarianceThreshold",
        "gaussian_process": "GaussianProcessClassifier",
        "impute": "KNNImputer MissingIndicator SimpleImputer",
        "kernel_approximation": "AdditiveChi2Sampler Nystroem PolynomialCountSketch RBFSampler"
        " SkewedChi2Sampler",
        "linear_model": "LogisticRegression LogisticRegressionCV Perceptron RidgeClassifier"
        " RidgeClassifierCV SGDClassifier",
        "manifold": "Isomap LocallyLinearEmbedding MDS SpectralEmbedding TSNE",
        "naive_bayes": "BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB",
        "neighbors": "KNeighborsClassifier KNeighborsTransformer NearestCentroid"
        " NeighborhoodComponentsAnalysis RadiusNeighborsClassifier RadiusNeighborsTransformer",
        "neural_network": "BernoulliRBM MLPClassifier",
        "preprocessing": "Binarizer KBinsDiscretizer KernelCenterer MaxAbsScaler MinMaxScaler"
        " Normalizer OneHotEncoder OrdinalEncoder PolynomialFeatures PowerTransformer"
        " QuantileTransformer RobustScaler SplineTransformer StandardScaler TargetEncoder",
        "random_projection": "GaussianRandomProjection SparseRandomProjection",
        "semi_supervised": "LabelPropagation LabelSpreading",
        "svm": "LinearSVC NuSVC SVC",
        "tree": "DecisionTreeClassifier ExtraTreeClassifier",
    }
)
LISTED = frozenset(
    f"sklearn.{module}:{name}" for module, names in _NAMES.items() for name in names.split()
)
"""Their names in specs, such as ``sklearn.svm:SVC``, which need no trust."""


def is_of_sklearn(name: str) -> bool:
    """Return whether a component is named by its module in scikit-learn."""
    return name.partition(":")[0].partition(".")[0] == "sklearn"
